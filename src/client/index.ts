/**
 * The entry `everthread/client`: threads over HTTP. It needs no Node, nor does anything that it imports: for browsers.
 */
export { ERRORS, type ErrorCode, isRuntimeError, RuntimeError } from '../core/value/error.ts';
export { HttpClient } from './http/http-client.ts';
export type { HttpConnectOptions } from './http/http-place.ts';
export type { ThreadsClient, ThreadsRuns } from './threads-client.ts';
