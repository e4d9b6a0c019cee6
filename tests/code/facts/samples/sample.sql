-- A schema.
CREATE TABLE items (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL
);

CREATE UNIQUE INDEX items_name ON items (name);

CREATE VIEW named AS
SELECT id, name FROM items WHERE name <> 'text';

CREATE FUNCTION total(low INTEGER) RETURNS INTEGER AS $$
    SELECT count(*) FROM items WHERE id > low;
$$ LANGUAGE sql;

CREATE TYPE mood AS ENUM ('sad', 'ok');

CREATE TABLE IF NOT EXISTS shop.orders (id INT);
