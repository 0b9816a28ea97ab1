/** Tells in the worker's log of a provider whose reports of usage break the contract and are corrected (core/message/usage.ts, U2). */
import type { AttemptOutcome } from '../../models/call-model.ts';
import type { StateDependencies } from '../../state/dependencies.ts';

/** Models that this process has told of: a provider reports so each time. */
const told = new Set<string>();

type Answered = Extract<AttemptOutcome, { ok: true }>;

export function tellOfUsage(
  report: StateDependencies['report'],
  { leftCacheOut, model, threadId }: Pick<Answered, 'leftCacheOut'> & { model: string; threadId: string },
): void {
  if (!leftCacheOut || told.has(model)) return;
  told.add(model);
  const error =
    'Its provider reports more cached tokens than prompt tokens, so both were added. ' +
    'Let it report the cached tokens as a part of promptTokens (docs/providers.md).';
  report?.({ code: 'model', name: model, threadId, error, goesOn: true });
}
