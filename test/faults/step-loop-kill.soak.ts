/** The long form of step-loop-kill.test.ts: one death for each place. */
import './step-loop-kill.test.ts';
