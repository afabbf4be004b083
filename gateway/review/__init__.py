"""People in the loop: tickets, and the verified entries that their answers become."""
