/** A tree of 13 threads and its budget, under two deaths of workers. `npm run test:soak -- budget-tree` has many. */
import { describeBudgetTree } from './budget-tree-ordeal.ts';

describeBudgetTree(2);
