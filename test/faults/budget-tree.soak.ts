/** Trees and their budgets while workers die again and again; `EVERTHREAD_FAULT_KILLS` says how often (default 20). */
import { describeBudgetTree } from './budget-tree-ordeal.ts';

describeBudgetTree(Number(process.env.EVERTHREAD_FAULT_KILLS || 20));
