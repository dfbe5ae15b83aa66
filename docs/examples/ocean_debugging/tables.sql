-- The tables that the example reads, with a load for each of its cases. Run it on a database of PostgreSQL 15 or newer.
CREATE TABLE company_relationships (
  relationship_id text PRIMARY KEY,
  shipper_id text NOT NULL,
  carrier_id text NOT NULL,
  status text NOT NULL,
  is_active boolean NOT NULL,
  created_date date NOT NULL
);
CREATE TABLE fact_carrier_file_logs (
  file_id text PRIMARY KEY,
  carrier_id text NOT NULL,
  received_at timestamptz NOT NULL
);
CREATE TABLE fact_carrier_record_logs (
  record_id text PRIMARY KEY,
  file_id text NOT NULL REFERENCES fact_carrier_file_logs,
  carrier_id text NOT NULL,
  load_id text,
  container_number text,
  booking_number text,
  status text NOT NULL
);
CREATE TABLE load_validation_data_mart (
  load_id text PRIMARY KEY,
  mode text NOT NULL,
  shipper_id text NOT NULL,
  carrier_id text NOT NULL,
  container_number text NOT NULL,
  booking_number text NOT NULL
);

INSERT INTO company_relationships VALUES
  ('R1', 'SHIP456', 'CARR200', 'ACTIVE', true, '2025-03-01'),
  ('R2', 'SHIP456', 'CARR300', 'SUSPENDED', false, '2024-11-20'),
  ('R3', 'SHIP456', 'CARR400', 'ACTIVE', true, '2025-06-15');
INSERT INTO fact_carrier_file_logs VALUES
  ('F1', 'CARR200', now() - interval '2 days'),
  ('F2', 'CARR200', now() - interval '9 hours'),
  ('F3', 'CARR400', now() - interval '60 days');
INSERT INTO load_validation_data_mart VALUES
  ('U123', 'OCEAN', 'SHIP456', 'CARR123', 'MSKU1000001', 'BK1'),
  ('U301', 'OCEAN', 'SHIP456', 'CARR300', 'MSKU1000002', 'BK2'),
  ('U401', 'OCEAN', 'SHIP456', 'CARR400', 'MSKU1000003', 'BK3'),
  ('U201', 'OCEAN', 'SHIP456', 'CARR200', 'MSKU1000004', 'BK4'),
  ('U202', 'OCEAN', 'SHIP456', 'CARR200', 'MSKU1000005', 'BK5'),
  ('U203', 'OCEAN', 'SHIP456', 'CARR200', 'MSKU1000006', 'BK6'),
  ('U204', 'OCEAN', 'SHIP456', 'CARR200', 'MSKU1000007', 'BK7');
INSERT INTO fact_carrier_record_logs VALUES
  ('C1', 'F1', 'CARR200', NULL, 'MSKU1000004', 'BK-OTHER', 'UNMATCHED'),
  ('C2', 'F2', 'CARR200', 'U203', 'MSKU1000006', 'BK6', 'FAILED'),
  ('C3', 'F2', 'CARR200', 'U204', 'MSKU1000007', 'BK7', 'PROCESSED');
