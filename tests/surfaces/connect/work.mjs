// Jobs and schedules as a program on Node would use them. Arguments: the address, the owner's token, the form.
// Prints one JSON object a step. What 003 names is spoken with the specification's messages, the rest with ours.
import { createClient, Code, ConnectError } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { JobsService as OurJobs } from "./gen/codeplane/v1/jobs_pb.js";
import { SchedulesService as OurSchedules } from "./gen/codeplane/v1/schedules_pb.js";
import { JobsService, JobStatus, SchedulesService, ScheduleTriggerKind } from "./spec/gen/codeplane/v1/streaming_pb.js";

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
const client = (service) => createClient(service, transport);
const [jobs, ourJobs] = [client(JobsService), client(OurJobs)];
const [schedules, ourSchedules] = [client(SchedulesService), client(OurSchedules)];
const codeOf = async (answer) => {
  try {
    await answer;
    return "none";
  } catch (error) {
    return Code[ConnectError.from(error).code];
  }
};

const created = (await jobs.createJob({ goal: `greet by ${form}`, budget: { maxToolSteps: 3 } })).item;
say("created", { goal: created.goal, steps: created.budget.maxToolSteps, running: created.status === JobStatus.JOB_RUNNING });
const { jobId } = created;
let job = (await jobs.getJob({ jobId })).item;
const ends = [JobStatus.JOB_COMPLETED, JobStatus.JOB_FAILED];
while (!ends.includes(job.status)) job = (await jobs.getJob({ jobId })).item;
say("ended", { status: JobStatus[job.status], same: job.threadId === created.threadId });
const listed = await jobs.listJobs({});
say("listed", { found: listed.items.some((item) => item.jobId === jobId) });
say("cancelled", { status: JobStatus[(await jobs.cancelJob({ jobId })).status] });
say("ends", {
  resume: await codeOf(ourJobs.resumeJob({ jobId })),
  diff: await codeOf(ourJobs.getJobDiff({ jobId })),
  apply: await codeOf(ourJobs.applyJob({ jobId })),
  discard: await codeOf(ourJobs.discardJob({ jobId })),
});
say("nowhere", { code: await codeOf(jobs.getJob({ jobId: "job_none" })) });

const kind = ScheduleTriggerKind.SCHEDULE_TRIGGER_CRON;
const made = { name: `nightly ${form}`, triggerKind: kind, triggerSpec: "0 3 * * *", timezone: "Europe/Berlin" };
// What it runs is an addition: 003 has no field for it.
say("goalless", { code: await codeOf(schedules.createSchedule(made)) });
const schedule = (await ourSchedules.createSchedule({ ...made, goal: "greet" })).item;
const { scheduleId } = schedule;
say("scheduled", { timezone: schedule.timezone, enabled: schedule.enabled, hasNext: schedule.nextRunAt !== undefined });
const patched = (await schedules.updateSchedule({ scheduleId, patch: { name: "patched", enabled: false } })).item;
say("updated", { name: patched.name, enabled: patched.enabled });
say("unknownKey", { code: await codeOf(schedules.updateSchedule({ scheduleId, patch: { colour: "red" } })) });
const run = await schedules.runScheduleNow({ scheduleId });
say("ran", { woke: run.wakeupEventId !== "", job: run.jobId !== "" });
const shown = (await ourSchedules.getSchedule({ scheduleId })).item;
say("shown", { history: shown.history.map((wakeup) => wakeup.state), runs: Number(shown.runs) });
const next = await ourSchedules.listNextRuns({ triggerKind: kind, triggerSpec: "0 3 * * *", timezone: "Europe/Berlin", count: 3 });
say("next", { count: next.runs.length });
say("schedules", { found: (await schedules.listSchedules({})).items.some((item) => item.scheduleId === scheduleId) });
await ourSchedules.deleteSchedule({ scheduleId });
say("deleted", { code: await codeOf(ourSchedules.getSchedule({ scheduleId })) });
