/** Approvals while workers die again and again; `EVERTHREAD_FAULT_KILLS` says how often (default 20). */
import { describeWaitKill } from './wait-kill-ordeal.ts';

describeWaitKill({ threads: 12, kills: Number(process.env.EVERTHREAD_FAULT_KILLS || 20) });
