"""sql.py: the SQL of a page: its blocks by the name in their first line, `-- NAME`."""
import re


def blocks_of(page):
    return dict(re.findall(r"^```sql\n-- (.*?)\n(.*?)^```$", page.read_text(), re.M | re.S))


def statements(text):
    """Without comments, which may hold semicolons."""
    plain = re.sub(r"--.*", "", text)
    return [s.strip() for s in plain.split(";") if s.strip()]


def for_spark(statement):
    """As the page says: a macro is a temporary function there."""
    found = re.match(r"CREATE MACRO (\w+)\((.*?)\) AS(.*)", statement, re.S)
    if not found:
        return statement
    name, parameters, expression = found.groups()
    typed = ", ".join(f"{p.strip()} DOUBLE" for p in parameters.split(","))
    return f"CREATE TEMPORARY FUNCTION {name}({typed}) RETURNS DOUBLE RETURN {expression}"
