/** Default port of the HTTP API. */
export const DEFAULT_PORT = 7777;
