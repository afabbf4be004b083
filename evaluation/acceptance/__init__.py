"""Blind acceptance: are the gateway's answers as good as the ground truths that people wrote?"""
