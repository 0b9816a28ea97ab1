/** The entry `everthread/server`: threads over HTTP, in terms of the web's own Request and Response. */
export {
  createSandbox,
  type Sandbox,
  type SandboxOptions,
  type SandboxScope,
  type WallSetting,
} from '../sandbox/index.ts';
export { type Access, loopbackAccess, tokenAccess } from './api/access.ts';
export type { ApiScope, Caller } from './api/caller.ts';
export { type Api, type ApiOptions, createApi } from './api/create-api.ts';
export type { AgentArguments, AgentSide, ApiAgent, CheckedArguments } from './api/host.ts';
export type { Problem } from './api/problem.ts';
export type { PublicAddressOptions, RequestSource } from './api/public-address.ts';
export { storedAccess } from './api/stored-access.ts';
export type { StreamLimits } from './api/stream-place.ts';
export {
  createEndpointHandler,
  type EndpointFailure,
  type EndpointOptions,
  type ThreadEndpoints,
} from './endpoint.ts';
export type { SocketStream, StreamSocket } from './standard/standard-socket.ts';
