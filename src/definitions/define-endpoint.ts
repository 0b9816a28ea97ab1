/** `defineThreadEndpoint` (definitions §11): a handler of requests, routed by the path of its file. */
import type { EndpointDefinition, EndpointHandler } from '../core/author/endpoint.ts';
import type { AnyThreadState, ThreadState } from '../core/author/thread-state.ts';
import { markDefinition } from './definition-mark.ts';
import { DefinitionError } from './problem.ts';

/**
 * Defines an endpoint of threads; the default export of a file below `agents/api/`, whose path is its route: `foo.ts` answers
 * GET /foo, `bar.post.ts` POST /bar, `orders/[id].ts` GET /orders/1, `files/[*].ts` everything below files.
 * `params` holds the bracketed parts; `state.execution` is null.
 * Throws an `InvalidDefinitions` error if the handler is not a function.
 * @example
 * ```ts
 * export default defineThreadEndpoint(async (_request, state, { id }) =>
 *   Response.json({ thread: state.threadId, order: await state.getValue(`order:${id}`) }),
 * );
 * ```
 */
export function defineThreadEndpoint<State extends AnyThreadState = ThreadState>(
  handler: EndpointHandler<State>,
): EndpointDefinition {
  if (typeof handler !== 'function') {
    const message = 'takes one function: (request, state, params) => Response';
    throw new DefinitionError('defineThreadEndpoint', [{ field: '', message }]);
  }
  // Discovery names it after its file: `nameDefinition`.
  // The runtime passes a ThreadState; the author may have declared a more specific type for it.
  return markDefinition<EndpointDefinition>({
    kind: 'endpoint',
    name: '',
    handler: handler as EndpointHandler,
  });
}
