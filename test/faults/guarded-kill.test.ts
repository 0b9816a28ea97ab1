/** A guarded turn whose workers die at some of its places; `npm run test:soak -- guarded-kill` has all of them. */
import { describeGuardedTurn } from './guarded-kill-points.ts';

describeGuardedTurn([
  { before: 'step_begun', behind: 'wait_answered' },
  { before: 'summary_kept', behind: 'execution_ending' },
]);
