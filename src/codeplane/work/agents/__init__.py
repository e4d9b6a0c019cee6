"""Outside agents that run turns: started in a work tree of their own, judged by the door, reviewed as one diff."""
