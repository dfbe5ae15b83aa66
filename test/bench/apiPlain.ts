import { createServer } from "node:http";
import { Ajv2020 } from "ajv/dist/2020.js";

/** How long the API works on an answer: what a quick one on the same machine needs. */
const thinkMs = 10;
export const requests = 200;

/** What every answer must be. */
export const contract = {
  type: "object",
  required: ["orders"],
  properties: {
    orders: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        required: ["id", "total", "lines"],
        properties: {
          id: { type: "integer" },
          total: { type: "number", minimum: 0 },
          lines: {
            type: "array",
            items: {
              type: "object",
              required: ["sku", "count"],
              properties: { sku: { type: "string" }, count: { type: "integer" } },
            },
          },
        },
      },
    },
  },
};

const orders = Array.from({ length: 20 }, (_, id) => ({
  id,
  total: id * 1.5,
  lines: [{ sku: `sku-${id}`, count: 2 }],
}));

/** An API on loopback that answers each request after {@link thinkMs}. */
export async function serveOrders(): Promise<{ url: string; close(): Promise<void> }> {
  const body = JSON.stringify({ orders });
  const server = createServer((_request, response) => {
    setTimeout(() => {
      response.writeHead(200, { "content-type": "application/json" }).end(body);
    }, thinkMs);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the API has no port");
  return {
    url: `http://127.0.0.1:${address.port}/orders`,
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections();
        server.close(() => closed());
      }),
  };
}

/** The same requests with what Node has and ajv, one after the other: status, a header, two values and the schema. */
export async function plainChecks(url: string): Promise<void> {
  const validate = new Ajv2020({ strict: true }).compile(contract);
  for (let index = 0; index < requests; index++) {
    const response = await fetch(url);
    const body: { orders: { id: number; total: unknown }[] } = JSON.parse(await response.text());
    const holds =
      response.status === 200 &&
      response.headers.get("content-type") === "application/json" &&
      body.orders[0]?.id === 0 &&
      typeof body.orders[1]?.total === "number" &&
      validate(body);
    if (!holds) throw new Error(`request ${index} broke the contract`);
  }
}
