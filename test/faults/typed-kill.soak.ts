/**
 * Typed answers while workers die again and again. `EVERTHREAD_FAULT_KILLS` is the number of deaths (default 200),
 * `EVERTHREAD_FAULT_SECONDS` the maximum duration.
 */
import { describeTypedKill } from './typed-ordeal.ts';

const { EVERTHREAD_FAULT_KILLS: kills, EVERTHREAD_FAULT_SECONDS: seconds } = process.env;
describeTypedKill({
  threads: 6,
  kills: Number(kills || 200),
  ...(seconds ? { seconds: Number(seconds) } : {}),
});
