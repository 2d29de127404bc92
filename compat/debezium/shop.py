"""A database whose transactions are known: what was inserted, updated and deleted in each, in order."""

import random

TABLES = """
CREATE TABLE orders (id int PRIMARY KEY, state text);
CREATE TABLE lines (id int PRIMARY KEY, order_id int, amount int);
"""
INSERT_LINE = "INSERT INTO lines VALUES (%(id)s, %(order_id)s, %(amount)s)"
# As Debezium names operations.
INSERT, UPDATE, DELETE = "c", "u", "d"


class Shop:
    def __init__(self, database, seed):
        self.database, self.chance = database, random.Random(seed)
        self.transactions = []
        self.orders, self.lines = {}, {}
        self.next_id = 0
        with database.connect() as connection:
            connection.execute(TABLES)

    def work(self, transactions):
        """Each with a few changes in both tables; now and then one that is rolled back."""
        with self.database.connect() as connection:
            for n in range(transactions):
                if n % 5 == 4:
                    self.roll_back(connection)
                with connection.transaction(), connection.cursor() as cursor:
                    self.transactions.append([self.change(cursor) for _ in range(self.chance.randint(1, 8))])

    def large(self, rows):
        """One that does not fit into a poll."""
        with self.database.connect() as connection, connection.transaction(), connection.cursor() as cursor:
            written = [self.new_line() for _ in range(rows)]
            cursor.executemany(INSERT_LINE, written)
            self.transactions.append([["lines", INSERT, row] for row in written])

    def roll_back(self, connection):
        with connection.transaction(force_rollback=True):
            connection.execute("INSERT INTO orders VALUES (-1, 'rolled back')")

    def change(self, cursor):
        chosen = self.chance.choice([self.insert_order, self.insert_line, self.update_order, self.delete_line])
        if (chosen == self.update_order and not self.orders) or (chosen == self.delete_line and not self.lines):
            chosen = self.insert_order
        return chosen(cursor)

    def insert_order(self, cursor):
        row = {"id": self.new_id(), "state": "new"}
        cursor.execute("INSERT INTO orders VALUES (%(id)s, %(state)s)", row)
        self.orders[row["id"]] = row
        return ["orders", INSERT, row]

    def insert_line(self, cursor):
        row = self.new_line()
        cursor.execute(INSERT_LINE, row)
        return ["lines", INSERT, row]

    def new_line(self):
        row = {"id": self.new_id(), "order_id": self.chance.randrange(10), "amount": self.chance.randrange(1000)}
        self.lines[row["id"]] = row
        return row

    def update_order(self, cursor):
        row = {"id": self.chance.choice(list(self.orders)), "state": f"state {self.chance.randrange(1000)}"}
        cursor.execute("UPDATE orders SET state = %(state)s WHERE id = %(id)s", row)
        self.orders[row["id"]] = row
        return ["orders", UPDATE, row]

    def delete_line(self, cursor):
        row = self.lines.pop(self.chance.choice(list(self.lines)))
        cursor.execute("DELETE FROM lines WHERE id = %(id)s", row)
        # Of a row that is gone its key is told.
        return ["lines", DELETE, row["id"]]

    def new_id(self):
        self.next_id += 1
        return self.next_id
