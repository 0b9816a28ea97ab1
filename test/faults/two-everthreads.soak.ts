/** Two Everthreads delegate over A2A while both die; `EVERTHREAD_FAULT_KILLS` is the number of deaths (default 30). */
import { describeTwoEverthreads } from './two-everthreads-ordeal.ts';

describeTwoEverthreads({ lanes: 8, kills: Number(process.env.EVERTHREAD_FAULT_KILLS || 30) });
