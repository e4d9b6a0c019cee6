"""What paths are on the disk: links, the folders git uses, where programs are found."""
