/**
 * The steps that limits count (step-count.ts), for a command that asks for them along with its thread's lock: it knows neither the row nor
 * the number of its own step then.
 */
import type { InferResult, Transaction } from 'kysely';
import type { Side } from '../../../core/author/thread-execution.ts';
import type { SideSteps } from '../../../core/thread/session.ts';
import type { Tables } from '../../schema/tables.ts';

/** Steps by what they are, from the first that counts. */
export function selectCountedSteps(trx: Transaction<Tables>, threadId: string) {
  return (
    trx
      .selectFrom('steps')
      .select((eb) => ['side', 'kind', 'state', 'execution_id', eb.fn.countAll<number>().as('count')])
      .where('thread_id', '=', threadId)
      .where('step', '>=', (eb) => eb.selectFrom('threads').select('counted_from').where('id', '=', threadId))
      .where('kind', 'in', ['model', 'tools'])
      // One that is open is a retired run's, and will be replaced; the step in its place counts.
      .where('state', 'not in', ['abandoned', 'open'])
      .groupBy(['side', 'kind', 'state', 'execution_id'])
  );
}

export type CountedSteps = Readonly<InferResult<ReturnType<typeof selectCountedSteps>>>;

/** How many of them each side has ended. */
export function sumSteps(counted: CountedSteps): SideSteps {
  const of = (side: Side) =>
    counted.reduce((sum, each) => (each.side === side ? sum + Number(each.count) : sum), 0);
  return { a: of('a'), b: of('b') };
}

/** Those that a model has answered in one execution. */
export function answeredIn(counted: CountedSteps, executionId: string): CountedSteps {
  return counted.filter(
    ({ kind, state, execution_id: id }) => kind === 'model' && state === 'committed' && id === executionId,
  );
}

/** One more of this side. */
export function withStep(steps: SideSteps, side: Side): SideSteps {
  return { ...steps, [side]: steps[side] + 1 };
}
