"""Speed of miniredis beside fakeredis, a real server over loopback, and redis-py alone."""
