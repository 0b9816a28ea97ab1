/** A tool whose body waits until the test releases it. */
import { defineTool } from '../../src/definitions/index.ts';

/** `begun(n)` resolves once the body of call n (from 0) has begun, with the function that releases that call. */
export function holding(options: { readonly quick?: boolean; readonly idempotent?: boolean } = {}) {
  const begun: PromiseWithResolvers<() => void>[] = [];
  const at = (time: number) => (begun[time] ??= Promise.withResolvers<() => void>());
  let count = 0;
  const tool = defineTool({
    description: 'is held',
    ...options,
    execute: async () => {
      const held = Promise.withResolvers<void>();
      at(count++).resolve(held.resolve);
      await held.promise;
      return { status: 'success', result: 'held' };
    },
  });
  return { tool, begun: (time: number) => at(time).promise };
}
