// Jobs that change files as a program on Node would use them. Arguments: the address, the owner's token, the form.
// Prints one JSON object a step.
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { JobsService, JobStatus } from "./gen/codeplane/v1/jobs_pb.js";

const [baseUrl, token, form] = process.argv.slice(2);
const say = (step, found) => console.log(JSON.stringify({ step, ...found }));
const bearer = (next) => (request) => {
  request.header.set("authorization", `Bearer ${token}`);
  return next(request);
};
const options = { baseUrl, httpVersion: "1.1", interceptors: [bearer] };
const transport =
  form === "grpc"
    ? createGrpcTransport({ ...options, httpVersion: "2" })
    : form === "grpcweb"
      ? createGrpcWebTransport(options)
      : createConnectTransport({ ...options, useBinaryFormat: form === "binary" });
const jobs = createClient(JobsService, transport);
const until = async (jobId, status) => {
  let job = (await jobs.getJob({ jobId })).item;
  while (job.status !== status) job = (await jobs.getJob({ jobId })).item;
  return job;
};

const goal = `node-${form}`;
const { jobId } = (await jobs.createJob({ goal, changesFiles: true, budget: { maxToolSteps: 1 } })).item;
await until(jobId, JobStatus.JOB_PAUSED_BUDGET);
const resumed = (await jobs.resumeJob({ jobId, budget: { maxToolSteps: 9 } })).item;
say("resumed", { steps: resumed.budget.maxToolSteps });
const done = await until(jobId, JobStatus.JOB_COMPLETED);
say("completed", { used: done.toolStepsUsed });
const diff = await jobs.getJobDiff({ jobId });
say("diff", { files: diff.files.map((file) => file.path), added: diff.diff.includes("+second") });
const applied = await jobs.applyJob({ jobId });
say("applied", { mutation: applied.mutationId !== "" });
const other = (await jobs.createJob({ goal: `${goal}-other`, changesFiles: true })).item.jobId;
await until(other, JobStatus.JOB_COMPLETED);
await jobs.discardJob({ jobId: other });
say("discarded", {});
