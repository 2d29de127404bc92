def declare(suite): pass
