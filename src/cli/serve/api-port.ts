/** Where the HTTP API listens unless another port is given. */
export const USUAL_PORT = 7777;
