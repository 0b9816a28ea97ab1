/** The door `everthread/server`: threads over the web, in terms of the web's own Request and Response. */
export {
  createEndpointHandler,
  type EndpointFailure,
  type EndpointOptions,
  type ThreadEndpoints,
} from './endpoint.ts';
