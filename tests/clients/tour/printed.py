"""What a client printed, and the tables in it."""
from demo_common import check


class Printed:
    def __init__(self, command, status, out, err):
        self.command, self.status, self.out, self.err = command, status, out, err

    def table(self, wanted=None):
        """The (last) table as a list of dictionaries; its columns are the wanted ones, in their order."""
        lines = [line for line in self.out.splitlines() if line.startswith("|")]
        check(lines, f"{self.command} printed no table:\n{self.out}{self.err}")
        cells = [[cell.strip() for cell in line[1:-1].split(" | ")] for line in lines]
        columns = cells[0]
        if wanted is not None:
            check(columns == wanted, f"{self.command} printed the columns {columns}, not {wanted}")
        check(all(len(row) == len(columns) for row in cells), f"{self.command} printed a ragged table:\n{self.out}")
        return [dict(zip(columns, row)) for row in cells[1:]]

    def column(self, name):
        return [row[name] for row in self.table()]

    def shown(self):
        """The table of one thing, as a dictionary. A value of several lines is joined."""
        rows, last = {}, None
        for row in self.table():
            name, value = row.values()
            if name:
                rows[name], last = value, name
            else:
                rows[last] += "\n" + value
        check(rows, f"{self.command} printed nothing of it")
        return rows


def same(found, wanted, what="it"):
    check(found == wanted, f"{what} is\n    {found}\n  and should be\n    {wanted}")


def holds(found, **wanted):
    """Each of the wanted members has this value; underscores stand for what a keyword cannot have."""
    same({name: found.get(name) for name in wanted}, wanted)


def says(printed, text):
    check(text in printed.out + printed.err, f"{printed.command} says\n    {(printed.out + printed.err).strip()}\n  and not\n    {text}")
