/**
 * Ours: an isolate for each call in a warm child process. Options as a tool gives them; types are erased by default.
 */
import { createSandbox } from '../../../src/sandbox/index.ts';
import { DEFAULT_MEMORY, type Engine } from '../engine.ts';

export async function openEverthread(): Promise<Engine> {
  const sandbox = createSandbox();
  return {
    name: 'everthread',
    async run({ source, args, functions = {}, memoryBytes = DEFAULT_MEMORY, deadlineMs }) {
      // Calls of one tenant: the cost of separate processes for several tenants is measured elsewhere.
      const scope = sandbox.scope({ tenant: 'bench' });
      const execution = scope.runCode(source, {
        globals: functions,
        memoryLimitBytes: memoryBytes,
        ...(args ? { execute: { fn: 'default', args } } : {}),
      });
      const end = () => execution.terminate('deadline');
      const timer = deadlineMs === undefined ? undefined : setTimeout(end, deadlineMs);
      const { status, result, error } = await execution;
      clearTimeout(timer);
      scope.close();
      const message = error && `${error.name}: ${error.message}`;
      return { status: status === 'link_error' ? 'error' : status, result, message };
    },
    close: () => sandbox.close(),
  };
}
