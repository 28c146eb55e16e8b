"""What others reach over the network: servers, each in a folder of its own."""
