/** The entry `everthread/server`: threads over HTTP, in terms of the web's own Request and Response. */
export {
  createSandbox,
  type Sandbox,
  type SandboxOptions,
  type SandboxScope,
  type WallSetting,
} from '../sandbox/index.ts';
export {
  createEndpointHandler,
  type EndpointFailure,
  type EndpointOptions,
  type ThreadEndpoints,
} from './endpoint.ts';
