# A package.
{ pkgs ? import <nixpkgs> {}, lib }:
let
  version = "1";
  build = name: pkgs.stdenv.mkDerivation { inherit name version; };
in
{
  store = build "store";
  nested.deep = 2;
  inherit version;
  shell = pkgs.mkShell { buildInputs = [ pkgs.git ]; };
}
