import type { Asked, Fault, Reply } from "../../fixtures/apiShop.ts";

type Json = Record<string, unknown>;
const isList = (body: unknown): body is Json[] => Array.isArray(body);
/** Changes each item of a reply. */
const items =
  (change: (item: Json) => Json) =>
  (reply: Reply): Reply => ({
    ...reply,
    body: isList(reply.body) ? reply.body.map(change) : change(Object(reply.body)),
  });
const without = (name: string) => items(({ [name]: _, ...rest }) => rest);
const as = (name: string, value: unknown) =>
  items((item) => (name in item ? { ...item, [name]: value } : item));
const status =
  (code: number) =>
  (reply: Reply): Reply => ({ ...reply, status: code });
const sent =
  (name: string, isThat: (value: unknown) => boolean) =>
  ({ body }: Asked): boolean =>
    typeof body === "object" && body !== null && name in body && isThat(Reflect.get(body, name));

/** Thirty faults of the kinds that the goal names, each in an operation of its own where it can be. */
export const shopFaults: readonly Fault[] = [
  {
    name: "price as text",
    operation: "readProduct",
    finds: "F101",
    spoils: items((item) => ({ ...item, price: String(item.price) })),
  },
  { name: "state of no known kind", operation: "readOrder", finds: "F101", spoils: as("state", "unknown") },
  { name: "null in a list", operation: "listCustomers", finds: "F101", spoils: as("name", null) },
  {
    name: "an object for a list",
    operation: "listRooms",
    finds: "F101",
    spoils: (reply) => ({ ...reply, body: { rooms: reply.body } }),
  },
  {
    name: "id as text",
    operation: "replaceOrder",
    finds: "F101",
    spoils: items((item) => ({ ...item, id: String(item.id) })),
  },
  {
    name: "a field too many",
    operation: "replaceCoupon",
    finds: "F101",
    spoils: items((item) => ({ ...item, secret: 1 })),
  },
  { name: "no email", operation: "readCustomer", finds: "F101", spoils: without("email") },
  { name: "no quantity", operation: "listOrders", finds: "F101", spoils: without("quantity") },
  { name: "no code", operation: "createCoupon", finds: "F101", spoils: without("code") },
  { name: "no title", operation: "readArticle", finds: "F101", spoils: without("title") },
  { name: "no label", operation: "replaceRoom", finds: "F101", spoils: without("label") },
  { name: "200 for 201", operation: "createProduct", finds: "F101", spoils: status(200) },
  { name: "202 for 201", operation: "createOrder", finds: "F101", spoils: status(202) },
  { name: "200 for 204", operation: "deleteCustomer", finds: "F101", spoils: status(200) },
  { name: "201 for 200", operation: "replaceCustomer", finds: "F101", spoils: status(201) },
  { name: "open to all", operation: "readRoom", finds: "F206", opens: "all" },
  { name: "list open to all", operation: "listProducts", finds: "F206", opens: "all" },
  { name: "any token deletes", operation: "deleteOrder", finds: "F206", opens: "wrong" },
  { name: "any token creates", operation: "createRoom", finds: "F206", opens: "wrong" },
  {
    name: "crash at the greatest quantity",
    operation: "replaceOrder",
    finds: "F100",
    crashes: sent("quantity", (value) => value === 100),
  },
  {
    name: "crash at the least age",
    operation: "createCustomer",
    finds: "F100",
    crashes: sent("age", (value) => value === 18),
  },
  {
    name: "crash at a limit of 100",
    operation: "listCoupons",
    finds: "F100",
    crashes: ({ query }) => query.get("limit") === "100",
  },
  {
    name: "crash at the longest label",
    operation: "createRoom",
    finds: "F100",
    crashes: sent("label", (value) => String(value).length >= 50),
  },
  {
    name: "crash at no words",
    operation: "createArticle",
    finds: "F100",
    crashes: sent("words", (value) => value === 0),
  },
  {
    name: "crash at an empty list",
    operation: "replaceProduct",
    finds: "F100",
    crashes: sent("tags", (value) => Array.isArray(value) && value.length === 0),
  },
  { name: "section is no filter", operation: "listArticles", finds: "F901", ignores: "section" },
  { name: "kind is no filter", operation: "listCoupons", finds: "F901", ignores: "kind" },
  { name: "words are not kept", operation: "replaceArticle", finds: "F900", loses: "words" },
  { name: "name is not kept", operation: "replaceCustomer", finds: "F900", loses: "name" },
  { name: "seats are not kept", operation: "replaceRoom", finds: "F900", loses: "seats" },
];

/** Written after the generator stood. All were found at the first try, one of them twice, which was mended. */
export const heldBackFaults: readonly Fault[] = [
  { name: "deleted, and there", operation: "deleteArticle", finds: "F103", keeps: true },
  { name: "refused, and stored", operation: "createOrder", finds: "F104", leaves: true },
  { name: "a read-only field is taken", operation: "createCustomer", finds: "F203", assigns: "created" },
  { name: "others may delete", operation: "deleteRoom", finds: "F206", forgets: "owner" },
  { name: "others may change", operation: "replaceCoupon", finds: "F206", forgets: "owner" },
  { name: "any percent", operation: "createCoupon", finds: "F102", unchecked: "percent" },
  { name: "any style", operation: "replaceRoom", finds: "F102", unchecked: "style" },
  {
    name: "crash at a missing field",
    operation: "createProduct",
    finds: "F100",
    crashes: ({ body }) => body !== undefined && !("name" in Object(body)),
  },
  {
    name: "crash at null",
    operation: "replaceArticle",
    finds: "F100",
    crashes: sent("summary", (value) => value === null),
  },
  {
    name: "crash at other letters",
    operation: "replaceCustomer",
    finds: "F100",
    crashes: sent("name", (value) => /\p{Emoji_Presentation}/u.test(String(value))),
  },
  { name: "limit is no limit", operation: "listProducts", finds: "F902", ignores: "limit" },
  {
    name: "zip as a number",
    operation: "readCustomer",
    finds: "F101",
    spoils: items((item) => ({ ...item, address: { ...Object(item.address), zip: 12_345 } })),
  },
];
