/** The two activities of a step, without the step. */
export const bareActivities = {
  async modelStep(): Promise<void> {},
  async runTool(): Promise<void> {},
};

export type BareActivities = typeof bareActivities;
