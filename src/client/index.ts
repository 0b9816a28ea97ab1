/** The entry `everthread/client`: threads over HTTP. Nothing here, and nothing that it imports, needs Node: it runs in a browser. */
export { ERRORS, type ErrorCode, isRuntimeError, RuntimeError } from '../core/value/error.ts';
export { HttpClient } from './http/http-client.ts';
export type { HttpConnectOptions } from './http/http-place.ts';
export type { ThreadsClient, ThreadsRuns } from './threads-client.ts';
