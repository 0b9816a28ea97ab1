/** A tool that stays in its body until it is let go. */
import { defineTool } from '../../src/definitions/index.ts';

/** `begun` tells, of each time that it is called, from 0, what lets it go, once it is in its body. */
export function holding(options: { readonly quick?: boolean } = {}) {
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
