"""What pages show: plain functions from stored things to what a template prints. Nothing here queries or writes."""
