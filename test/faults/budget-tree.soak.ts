/**
 * Trees and their budgets while workers die again and again; `EVERTHREAD_FAULT_KILLS` says how often (default 20), `EVERTHREAD_FAULT_SECONDS` for how long
 * at most.
 */
import { describeBudgetTree } from './budget-tree-ordeal.ts';

const { EVERTHREAD_FAULT_KILLS: kills, EVERTHREAD_FAULT_SECONDS: seconds } = process.env;
describeBudgetTree(Number(kills || 20), seconds ? Number(seconds) : undefined);
