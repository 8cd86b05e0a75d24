"""What is seen: views, requests, frames, and what they are drawn from."""
