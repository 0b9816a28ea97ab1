/** Approvals, denials and budgets while workers die again and again; `EVERTHREAD_FAULT_KILLS` says how often (default 20; 500 take some hours on a busy machine). */
import { describeWaitKill } from './wait-kill-ordeal.ts';

describeWaitKill({ threads: 14, kills: Number(process.env.EVERTHREAD_FAULT_KILLS || 20) });
