"""Draws the papers' figures from their result files."""
