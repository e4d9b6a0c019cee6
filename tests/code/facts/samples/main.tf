# A deployment.
terraform {
  required_version = ">= 1.0"
}

variable "region" {
  type    = string
  default = "eu"
}

locals {
  name = "store-${var.region}"
}

resource "aws_instance" "web" {
  ami = data.aws_ami.base.id
  tags = { Name = local.name }
}

data "aws_ami" "base" {
  owners = ["self"]
}

module "network" {
  source = "./network"
}

output "address" {
  value = aws_instance.web.public_ip
}
