/** Thread endpoints (definitions §11): HTTP requests that the project's own code answers, with a thread at hand. */
import type { AnyThreadState, ThreadState } from './thread-state.ts';

export const ENDPOINT_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type EndpointMethod = (typeof ENDPOINT_METHODS)[number];

/** Without the thread's id; a catch-all's rest of the path is `params['*']`. */
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
