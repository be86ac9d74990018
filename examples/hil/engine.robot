*** Comments ***
The bench of test_engine.py, for those who write their tests with Robot Framework:

    VECUD=target/release/vecud python -m robot examples/hil

*** Settings ***
Library          vecud.robot.VecudLibrary
Test Setup       Start Rig    ${CURDIR}/bench.toml
Test Teardown    End The Run

*** Variables ***
${IDLE}    plant.speed > 800 and plant.speed < 900

*** Keywords ***
End The Run
    [Documentation]    Keeps the report of a test that has failed beside Robot Framework's own.
    Stop Rig
    Run Keyword If Test Failed    Save Report    ${OUTPUT DIR}/${TEST NAME}

*** Test Cases ***
Idle Speed Follows Its Setting
    Wait Until Signal     ${IDLE}    timeout=10
    Write Variable        ecu.idle_speed    1100
    Wait Until Signal     plant.speed > 1050 and plant.speed < 1150    timeout=10
    ${speed} =            Read Signal    plant.speed
    Should Be True        ${speed} > 1000

A Load Is Caught
    Wait Until Signal     ${IDLE}    timeout=10
    Start Capture         plant.speed    plant.load
    Write Variable        plant.load_torque    15.0
    Wait Until Signal     plant.speed < 830    timeout=5
    Wait Until Signal     plant.speed > 840    timeout=10
    ${samples} =          Stop Capture
    Should Be True        min(${samples}[plant.speed]) > 600
    Should Be True        max(${samples}[plant.load]) == 15.0

Time Stands Still In A Pause
    Wait Until Signal     ${IDLE}    timeout=10
    Pause Rig
    ${state} =            Rig State
    Should Be Equal       ${state}    paused
    Resume Rig
    Limits Should Hold    clocks=ecu.*    p50_start_latency=0.005

Teeth That The Test Sends Are Counted
    [Setup]               Start Rig    ${CURDIR}/ecu_alone.toml
    Tick Clock            ecu.crank_isr
    Wait Until Signal     ecu.teeth >= 1
    ${activations} =      Clock Activations    ecu.crank_isr
    Should Be Equal As Integers    ${activations}    1

A Run Has A Verdict
    Wait Until Signal     ${IDLE}    timeout=10
    ${verdict} =          Stop Rig
    Should Be Equal       ${verdict}    pass
    Rig Should Have Passed
