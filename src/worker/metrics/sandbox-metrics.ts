/** Metrics of the sandbox: ended runs by status (`memory`: killed for exceeding its memory), and child processes. */
import { Counter, Gauge, type Registry as Metrics } from 'prom-client';
import type { Sandbox } from '../../sandbox/index.ts';

export function measureSandbox(metrics: Metrics, sandbox: Sandbox): Sandbox {
  const registers = [metrics];
  const runs = new Counter({
    name: 'everthread_sandbox_runs_total',
    help: 'Programs that have ended; status memory: ended for exceeding their memory',
    labelNames: ['status'],
    registers,
  });
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name: `everthread_sandbox_${name}`,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  gauge('children', 'Child processes, including idle ones', () => sandbox.figures().children);
  gauge('running', 'Running programs', () => sandbox.figures().running);
  gauge('waiting', 'Programs waiting for a slot', () => sandbox.figures().waiting);
  // Every status has a series from the start, so that dashboards show 0 before the first such end.
  for (const status of ['success', 'error', 'link_error', 'memory', 'terminated']) runs.inc({ status }, 0);
  return {
    ...sandbox,
    scope(options) {
      const scope = sandbox.scope(options);
      return {
        ...scope,
        runCode: (source, given) => {
          const execution = scope.runCode(source, given);
          execution.then(
            ({ status }) => runs.inc({ status }),
            () => undefined,
          );
          return execution;
        },
      };
    },
  };
}
