/**
 * Trees and their budgets while workers die again and again. `EVERTHREAD_FAULT_KILLS` is the number of deaths (default
 * 20), `EVERTHREAD_FAULT_SECONDS` the maximum duration.
 */
import { describeBudgetTree } from './budget-tree-ordeal.ts';

const { EVERTHREAD_FAULT_KILLS: kills, EVERTHREAD_FAULT_SECONDS: seconds } = process.env;
describeBudgetTree(Number(kills || 20), seconds ? Number(seconds) : undefined);
