/** Default port of the HTTP API. */
export const USUAL_PORT = 7777;
