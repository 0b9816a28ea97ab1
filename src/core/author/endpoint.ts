/** Thread endpoints (definitions §11): HTTP requests that the project's own code answers, with access to a thread. */
import type { AnyThreadState, ThreadState } from './thread-state.ts';

export const ENDPOINT_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type EndpointMethod = (typeof ENDPOINT_METHODS)[number];

/** Path parameters without the thread's id; the rest of a catch-all path is `params['*']`. */
export type EndpointParams = Readonly<Record<string, string>>;

export type EndpointHandler<State extends AnyThreadState = ThreadState> = (
  request: Request,
  state: State,
  params: EndpointParams,
) => Promise<Response> | Response;

export interface EndpointDefinition {
  readonly kind: 'endpoint';
  /** The file below `agents/api` without its extension, such as `orders/[id].post`; set by discovery. */
  readonly name: string;
  readonly handler: EndpointHandler;
}
