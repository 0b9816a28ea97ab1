/** ThreadState's effects (definitions §10), backed by the store. */
import type { Registry } from '../../core/author/registry.ts';
import type { ThreadEffects } from '../../core/author/thread-effect.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { toJsonObject } from '../../core/value/json-value.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { CallerContext } from './caller-context.ts';
import type { ThreadEnv } from './thread-env.ts';

/** One year: a longer delay is most likely a mistake of units. */
const MAX_DELAY_MS = 366 * 24 * 60 * 60 * 1000;

export interface EffectsInput {
  readonly store: ThreadStore;
  readonly registry: Registry;
  readonly nextId: () => string;
  readonly redactKnown: ThreadEnv['redactKnown'];
}

export function createEffects(
  { store, registry, nextId, redactKnown }: EffectsInput,
  { thread, life, work }: CallerContext,
): ThreadEffects {
  return {
    async scheduleEffect(name, args = {}, delay = 0) {
      life.signal.throwIfAborted();
      if (!registry.effects.has(name)) throw unknownEffect(registry, name);
      const id = nextId();
      const effect = {
        id,
        name,
        args: redactKnown(
          toJsonObject(args, { name: `arguments of "${name}"`, maxBytes: LIMITS.effectArgumentBytes }),
        ),
        delayMs: checkDelay(name, delay),
      };
      await work.wakeForEffects(await store.effects.schedule(thread.id, effect));
      return id;
    },
    getScheduledEffects: async (name) =>
      store.effects.list(thread.id, name === undefined ? undefined : String(name)),
    removeScheduledEffect: (id) => store.effects.remove(thread.id, String(id)),
  };
}

function checkDelay(name: string, delay: unknown): number {
  if (typeof delay === 'number' && delay >= 0 && delay <= MAX_DELAY_MS) return delay;
  throw new RuntimeError(
    'InvalidValue',
    `The delay of the effect "${name}" must be a number of milliseconds from 0 to ${MAX_DELAY_MS} (a year), not ${String(delay)}.`,
  );
}

function unknownEffect({ effects }: Registry, name: string): RuntimeError {
  const known = [...effects.keys()].map((each) => `"${each}"`).join(', ') || 'none';
  return new RuntimeError(
    'EffectNotFound',
    `The project defines no effect "${String(name)}". It defines: ${known}.`,
  );
}
