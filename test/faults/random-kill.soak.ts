/** Fifty threads while workers die again and again; `EVERTHREAD_FAULT_SECONDS` is for how long (default 25). */
import { describeRandomKill } from './random-kill-ordeal.ts';

const seconds = Number(process.env.EVERTHREAD_FAULT_SECONDS || 25);
describeRandomKill({ threads: 50, steps: 10, seconds, historySoftLimit: 100 });
