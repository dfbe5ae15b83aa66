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

/** A fault of an operation with the id of the finding that tells it, such as `F101 readProduct`. */
function fault(found: `F${number} ${string}`, name: string, does: Partial<Fault>): Fault {
  const [finds = "", operation = ""] = found.split(" ");
  return { name, operation, finds, ...does };
}

/** Thirty faults of the kinds that the goal names, each in an operation of its own where it can be. */
export const shopFaults: readonly Fault[] = [
  fault("F101 readProduct", "price as text", {
    spoils: items((item) => ({ ...item, price: String(item.price) })),
  }),
  fault("F101 readOrder", "state of no known kind", { spoils: as("state", "unknown") }),
  fault("F101 listCustomers", "null in a list", { spoils: as("name", null) }),
  fault("F101 listRooms", "an object for a list", {
    spoils: (reply) => ({ ...reply, body: { rooms: reply.body } }),
  }),
  fault("F101 replaceOrder", "id as text", { spoils: items((item) => ({ ...item, id: String(item.id) })) }),
  fault("F101 replaceCoupon", "a field too many", { spoils: items((item) => ({ ...item, secret: 1 })) }),
  fault("F101 readCustomer", "no email", { spoils: without("email") }),
  fault("F101 listOrders", "no quantity", { spoils: without("quantity") }),
  fault("F101 createCoupon", "no code", { spoils: without("code") }),
  fault("F101 readArticle", "no title", { spoils: without("title") }),
  fault("F101 replaceRoom", "no label", { spoils: without("label") }),
  fault("F101 createProduct", "200 for 201", { spoils: status(200) }),
  fault("F101 createOrder", "202 for 201", { spoils: status(202) }),
  fault("F101 deleteCustomer", "200 for 204", { spoils: status(200) }),
  fault("F101 replaceCustomer", "201 for 200", { spoils: status(201) }),
  fault("F206 readRoom", "open to all", { opens: "all" }),
  fault("F206 listProducts", "list open to all", { opens: "all" }),
  fault("F206 deleteOrder", "any token deletes", { opens: "wrong" }),
  fault("F206 createRoom", "any token creates", { opens: "wrong" }),
  fault("F100 replaceOrder", "crash at the greatest quantity", {
    crashes: sent("quantity", (value) => value === 100),
  }),
  fault("F100 createCustomer", "crash at the least age", { crashes: sent("age", (value) => value === 18) }),
  fault("F100 listCoupons", "crash at a limit of 100", {
    crashes: ({ query }) => query.get("limit") === "100",
  }),
  fault("F100 createRoom", "crash at the longest label", {
    crashes: sent("label", (value) => String(value).length >= 50),
  }),
  fault("F100 createArticle", "crash at no words", { crashes: sent("words", (value) => value === 0) }),
  fault("F100 replaceProduct", "crash at an empty list", {
    crashes: sent("tags", (value) => Array.isArray(value) && value.length === 0),
  }),
  fault("F901 listArticles", "section is no filter", { ignores: "section" }),
  fault("F901 listCoupons", "kind is no filter", { ignores: "kind" }),
  fault("F900 replaceArticle", "words are not kept", { loses: "words" }),
  fault("F900 replaceCustomer", "name is not kept", { loses: "name" }),
  fault("F900 replaceRoom", "seats are not kept", { loses: "seats" }),
];

/** Written after the generator stood. All were found at the first try, one of them twice, which was mended. */
export const heldBackFaults: readonly Fault[] = [
  fault("F103 deleteArticle", "deleted, and there", { keeps: true }),
  fault("F104 createOrder", "refused, and stored", { leaves: true }),
  fault("F203 createCustomer", "a read-only field is taken", { assigns: "created" }),
  fault("F206 deleteRoom", "others may delete", { forgets: "owner" }),
  fault("F206 replaceCoupon", "others may change", { forgets: "owner" }),
  fault("F102 createCoupon", "any percent", { unchecked: "percent" }),
  fault("F102 replaceRoom", "any style", { unchecked: "style" }),
  fault("F100 createProduct", "crash at a missing field", {
    crashes: ({ body }) => body !== undefined && !("name" in Object(body)),
  }),
  fault("F100 replaceArticle", "crash at null", { crashes: sent("summary", (value) => value === null) }),
  fault("F100 replaceCustomer", "crash at other letters", {
    crashes: sent("name", (value) => /\p{Emoji_Presentation}/u.test(String(value))),
  }),
  fault("F902 listProducts", "limit is no limit", { ignores: "limit" }),
  fault("F101 readCustomer", "zip as a number", {
    spoils: items((item) => ({ ...item, address: { ...Object(item.address), zip: 12_345 } })),
  }),
];
