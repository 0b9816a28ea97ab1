/**
 * Approvals, denials and budgets while workers die again and again. `EVERTHREAD_FAULT_KILLS` is the number of deaths
 * (default 20; a death costs some 4 s of computing), `EVERTHREAD_FAULT_SECONDS` the maximum duration.
 */
import { describeWaitKill } from './wait-kill-ordeal.ts';

const { EVERTHREAD_FAULT_KILLS: kills, EVERTHREAD_FAULT_SECONDS: seconds } = process.env;
describeWaitKill({
  threads: 10,
  kills: Number(kills || 20),
  ...(seconds ? { seconds: Number(seconds) } : {}),
});
