module streamstack/compat/go-adapter

go 1.26.0
