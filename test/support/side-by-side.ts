/**
 * A tool whose calls run side by side, and what a test sees of them: which have begun, which have ended, how many were
 * under way at once. Each call ends when the test lets it.
 */
import { z } from 'zod';
import { defineTool } from '../../src/definitions/index.ts';
import { callsMany, type ScriptStep } from '../../src/testing/index.ts';
import { eventually } from './eventually.ts';

type Fields = Partial<
  Pick<Parameters<typeof defineTool>[0], 'quick' | 'activity' | 'capabilities' | 'timeoutMs'>
>;

export interface Probes {
  /** The tool; a call of it returns `read <id>`, or fails if it was let go with an error. */
  readonly probe: ReturnType<typeof defineTool>;
  readonly begun: readonly string[];
  readonly ended: readonly string[];
  readonly aborted: readonly string[];
  /** The most that were under way at once. */
  readonly most: () => number;
  /** Resolves once these calls have begun. */
  haveBegun(...ids: string[]): Promise<unknown>;
  /** Lets calls end, also those that have not begun. */
  letGo(...ids: string[]): void;
  /** Lets a call throw. */
  letFail(id: string): void;
}

export function probes({ quick = false, ...fields }: Fields = {}): Probes {
  const begun: string[] = [];
  const ended: string[] = [];
  const aborted: string[] = [];
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const gateOf = (id: string) => {
    const gate = gates.get(id) ?? Promise.withResolvers<void>();
    gate.promise.catch(() => undefined);
    gates.set(id, gate);
    return gate;
  };
  let [underWay, most] = [0, 0];
  const probe = defineTool({
    description: 'reads',
    args: z.object({ id: z.string() }),
    parallel: true,
    ...(quick ? { quick } : { idempotent: true }),
    ...fields,
    execute: async ({ execution }, { id }) => {
      begun.push(id);
      underWay += 1;
      most = Math.max(most, underWay);
      const abort = Promise.withResolvers<never>();
      abort.promise.catch(() => undefined);
      const onAbort = () => {
        aborted.push(id);
        abort.reject(new Error('aborted'));
      };
      execution?.abortSignal.addEventListener('abort', onAbort);
      try {
        await Promise.race([gateOf(id).promise, abort.promise]);
      } finally {
        execution?.abortSignal.removeEventListener('abort', onAbort);
        underWay -= 1;
        ended.push(id);
      }
      return { status: 'success', result: `read ${id}` };
    },
  });
  return {
    probe: probe as unknown as Probes['probe'],
    begun,
    ended,
    aborted,
    most: () => most,
    haveBegun: (...ids) =>
      eventually(`the calls ${ids.join(', ')} have begun`, async () => ids.every((id) => begun.includes(id))),
    letGo(...ids) {
      for (const id of ids) gateOf(id).resolve();
    },
    letFail: (id) => gateOf(id).reject(new Error(`${id} is broken`)),
  };
}

/** An answer with a call of `probe` for each id. */
export const probing = (...ids: string[]): ScriptStep =>
  callsMany(ids.map((id) => ({ name: 'probe', args: { id } })));
