/** What people's conversations drive, and what autonomous agents do: one client each, in every life of this server. */
export const clientsOf = (host: string) => ({ chat: `chat@${host}`, agent: `agent@${host}` });
